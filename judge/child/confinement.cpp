// SPDX-License-Identifier: Apache-2.0
// Limits of resources (setrlimit(2)), another user, and a filter of system calls (seccomp(2)) that
// needs no privilege: no process is started, signalled, slowed down or looked into, no file is
// written, made, changed or removed, no socket is opened. Each refused call fails with EPERM.
#include "confinement.hpp"

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <span>

#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace diffbench::tried {

namespace {

constexpr uid_t nobody = 65534;

#if defined(__x86_64__)
constexpr std::uint32_t this_arch = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t this_arch = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t this_arch = 0;
#endif

/// Calls that are refused whatever their arguments are.
constexpr long refused[] = {
#ifdef __NR_fork
    __NR_fork, __NR_vfork,
#endif
#ifdef __NR_unlink
    __NR_unlink, __NR_rmdir, __NR_rename, __NR_mkdir, __NR_mknod, __NR_link, __NR_symlink,
    __NR_creat, __NR_chmod, __NR_chown, __NR_lchown, __NR_utime, __NR_utimes, __NR_futimesat,
#endif
    __NR_unlinkat, __NR_renameat2, __NR_mkdirat, __NR_mknodat, __NR_linkat, __NR_symlinkat,
    __NR_fchmodat, __NR_fchownat,
    __NR_fchmod, // of what is open for reading, too
    __NR_fchown, __NR_utimensat, __NR_setxattr, __NR_lsetxattr, __NR_fsetxattr, __NR_removexattr,
    __NR_lremovexattr, __NR_fremovexattr, __NR_truncate, __NR_openat2, __NR_ptrace,
    __NR_process_vm_readv, __NR_process_vm_writev, __NR_pidfd_open, __NR_pidfd_getfd,
    __NR_pidfd_send_signal, __NR_kcmp, __NR_rt_sigqueueinfo, __NR_rt_tgsigqueueinfo,
    __NR_tkill, // the C library takes tgkill
    __NR_setpriority, __NR_ioprio_set, __NR_sched_setscheduler, __NR_sched_setparam,
    __NR_sched_setattr, __NR_move_pages, __NR_migrate_pages, __NR_socket, __NR_setsid, __NR_setpgid,
    __NR_bpf, __NR_perf_event_open, __NR_mount, __NR_umount2, __NR_unshare, __NR_setns, __NR_chroot,
    __NR_keyctl, __NR_add_key, __NR_request_key, __NR_io_uring_setup, __NR_userfaultfd, __NR_shmget,
    __NR_shmat, __NR_shmctl, __NR_msgget, __NR_msgctl, __NR_msgrcv, __NR_msgsnd, __NR_semget,
    __NR_semctl, __NR_semop, __NR_semtimedop, __NR_mq_open, __NR_mq_unlink, __NR_inotify_init1,
    __NR_execveat,
#ifdef __NR_renameat
    __NR_renameat,
#endif
    // By number: older headers lack them. They are the same on every machine.
    440, // process_madvise
    448, // process_mrelease
    452, // fchmodat2
};

/// Of ioctl(2): what types into a terminal, and what sends signals of a file to others.
constexpr std::uint32_t refused_ioctls[] = {TIOCSTI, TIOCLINUX, FIOSETOWN, SIOCSPGRP};
/// Of prctl(2): to outlive diffbench.
constexpr std::uint32_t refused_prctls[] = {PR_SET_PDEATHSIG};
constexpr std::uint32_t refused_fcntls[] = {F_SETOWN, F_SETOWN_EX, F_SETSIG};

class Filter {
 public:
  explicit Filter(bool alone) {
    load(offsetof(seccomp_data, arch));
    jump_if(BPF_JEQ, this_arch, 1, 0);
    end(SECCOMP_RET_KILL_PROCESS);
    load(offsetof(seccomp_data, nr));
#if defined(__x86_64__)
    jump_if(BPF_JGE, 0x40000000U, 0, 1); // the other numbers of the same calls (x32)
    end(SECCOMP_RET_ERRNO | EPERM);
#endif
    for (const long call : refused) {
      on(call);
      end(SECCOMP_RET_ERRNO | EPERM);
    }
    on(__NR_clone3); // its flags are in memory: the C library then takes clone
    end(SECCOMP_RET_ERRNO | ENOSYS);
    // Threads are welcome, processes are not.
    where(__NR_clone, 0, BPF_JSET, CLONE_THREAD, /*refuses_where_true=*/false);
    constexpr std::uint32_t writes = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC;
#ifdef __NR_open
    where(__NR_open, 1, BPF_JSET, writes, true);
#endif
    where(__NR_openat, 2, BPF_JSET, writes, true);
    const auto self = static_cast<std::uint32_t>(getpid());
    where(__NR_kill, 0, BPF_JEQ, self, false);
    where(__NR_tgkill, 0, BPF_JEQ, self, false);
    unless_self(__NR_prlimit64, self);
    if (!alone) {
      // Its threads have numbers as other processes have: they cannot be told apart.
      unless_self(__NR_sched_setaffinity, self);
    }
    refuse_where(__NR_ioctl, 1, refused_ioctls);
    refuse_where(__NR_fcntl, 1, refused_fcntls);
    refuse_where(__NR_prctl, 0, refused_prctls);
    end(SECCOMP_RET_ALLOW);
  }

  [[nodiscard]] bool install() {
    const sock_fprog program{.len = static_cast<unsigned short>(code_.size()),
                             .filter = code_.data()};
    return this_arch != 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
  }

 private:
  void add(std::uint16_t code, std::uint32_t value, std::uint8_t yes = 0, std::uint8_t no = 0) {
    code_.push_back({.code = code, .jt = yes, .jf = no, .k = value});
  }
  void load(std::size_t offset) {
    add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
  }
  void jump_if(std::uint16_t test, std::uint32_t value, std::uint8_t yes, std::uint8_t no) {
    add(static_cast<std::uint16_t>(BPF_JMP | BPF_K | test), value, yes, no);
  }
  void end(std::uint32_t action) { add(BPF_RET | BPF_K, action); }
  /// The next instruction is for this call alone.
  void on(long call) { jump_if(BPF_JEQ, static_cast<std::uint32_t>(call), 0, 1); }
  /// Of this call: by the low half of an argument.
  void where(long call, unsigned argument, std::uint16_t test, std::uint32_t value,
             bool refuses_where_true) {
    jump_if(BPF_JEQ, static_cast<std::uint32_t>(call), 0, 4);
    load(offsetof(seccomp_data, args) + argument * sizeof(std::uint64_t));
    jump_if(test, value, refuses_where_true ? 0 : 1, refuses_where_true ? 1 : 0);
    end(SECCOMP_RET_ERRNO | EPERM);
    end(SECCOMP_RET_ALLOW);
  }

  /// The call's first argument is a process: this one, or 0, which is this one, too.
  void unless_self(long call, std::uint32_t self) {
    jump_if(BPF_JEQ, static_cast<std::uint32_t>(call), 0, 5);
    load(offsetof(seccomp_data, args));
    jump_if(BPF_JEQ, 0, 2, 0);
    jump_if(BPF_JEQ, self, 1, 0);
    end(SECCOMP_RET_ERRNO | EPERM);
    end(SECCOMP_RET_ALLOW);
  }
  /// Where the call's argument is one of these.
  void refuse_where(long call, unsigned argument, std::span<const std::uint32_t> values) {
    jump_if(BPF_JEQ, static_cast<std::uint32_t>(call), 0,
            static_cast<std::uint8_t>(2 * values.size() + 2));
    load(offsetof(seccomp_data, args) + argument * sizeof(std::uint64_t));
    for (const std::uint32_t value : values) {
      jump_if(BPF_JEQ, value, 0, 1);
      end(SECCOMP_RET_ERRNO | EPERM);
    }
    end(SECCOMP_RET_ALLOW);
  }

  std::vector<sock_filter> code_;
};

/// A team of threads that is to be pinned does not start where it cannot be.
void leave_threads_unpinned() {
  for (const char* variable :
       {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"}) {
    unsetenv(variable);
  }
}

bool limit(__rlimit_resource_t resource, std::uint64_t most) {
  const rlimit limits{.rlim_cur = most, .rlim_max = most};
  return setrlimit(resource, &limits) == 0;
}

} // namespace

std::vector<std::string> confine(const Limits& limits) {
  std::vector<std::string> missing;
  const auto demand = [&missing](bool done, const char* what) {
    if (!done) {
      missing.emplace_back(what);
    }
  };
  std::signal(SIGXFSZ, SIG_IGN); // a write beyond the limit then fails
  demand(limit(RLIMIT_AS, limits.memory_bytes), "its memory is not limited");
  demand(limit(RLIMIT_CPU, limits.cpu_seconds), "its CPU time is not limited");
  demand(limit(RLIMIT_FSIZE, limits.file_bytes), "what it prints is not limited");
  limit(RLIMIT_CORE, 0);
  if (geteuid() == 0) {
    demand(setgroups(0, nullptr) == 0 && setresgid(nobody, nobody, nobody) == 0 &&
               setresuid(nobody, nobody, nobody) == 0,
           "it runs as root");
  }
  // After the change of user, which undoes it.
  demand(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0, "it outlives diffbench where that is killed");
  if (!limits.alone) {
    leave_threads_unpinned();
  }
  demand(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && Filter(limits.alone).install(),
         "it can use the network, write files and start processes");
  return missing;
}

} // namespace diffbench::tried
