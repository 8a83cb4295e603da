/** What is asked of an activation besides the version. */
export interface ActivationOptions {
  /** The version that must be active, 0 for none, null for any. */
  expected: number | null;
  /** Goes on despite warnings about data. */
  force: boolean;
}

export interface NewVersion extends ActivationOptions {
  /** Canonical JSON of a validated snapshot. */
  snapshot: string;
  /** SHA-256 of that text, in hexadecimal. */
  hash: string;
  provenance: object | null;
}
