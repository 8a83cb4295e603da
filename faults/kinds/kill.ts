/** Sends a signal that no process can answer, SIGKILL unless told otherwise; one that has just ended by itself is as good. */
export function kill(pid: number | undefined, signal: "SIGKILL" | "SIGSTOP" | "SIGCONT" = "SIGKILL"): void {
  if (pid === undefined) return;
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
