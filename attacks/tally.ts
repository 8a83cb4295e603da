/** What an attack did, and what became of it for the attacker. */
export class Tally {
  requests = 0;
  bytes = 0;
  /** How often each answer came: a status with the code of its error, or what became of the connection. */
  readonly answers = new Map<string, number>();
  /** What must not have happened, each once. */
  readonly breaches = new Set<string>();

  sent(bytes: number): void {
    this.requests += 1;
    this.bytes += bytes;
  }

  answered(how: string): void {
    this.answers.set(how, (this.answers.get(how) ?? 0) + 1);
  }
}
