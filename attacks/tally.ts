/** Counts an attack's requests and their results. */
export class Tally {
  requests = 0;
  bytes = 0;
  /** Counts of answers: a status with the code of its error, or how the connection failed. */
  readonly answers = new Map<string, number>();
  /** What happened and must not, each once. */
  readonly breaches = new Set<string>();

  sent(bytes: number): void {
    this.requests += 1;
    this.bytes += bytes;
  }

  answered(how: string): void {
    this.answers.set(how, (this.answers.get(how) ?? 0) + 1);
  }
}
