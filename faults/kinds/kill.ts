/** Sends a signal that no process can handle, by default SIGKILL; ignores a process that has just ended by itself. */
export function kill(pid: number | undefined, signal: "SIGKILL" | "SIGSTOP" | "SIGCONT" = "SIGKILL"): void {
  if (pid === undefined) return;
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
