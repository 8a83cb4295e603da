import { randomBytes } from "node:crypto";
import { hash, verify } from "@node-rs/argon2";
import { Semaphore } from "../../http/semaphore.js";

/**
 * Hashes and verifies passwords by argon2id with the library's default parameters, which OWASP recommends: 19 MiB and 2 passes. Limits how many
 * run at once: each takes that memory and a processor for some 20 ms, and no sign-in is needed to cause one.
 */
export class Passwords {
  readonly #places = new Semaphore({
    places: 2,
    waitingMax: 50,
    // Far longer than a full queue takes.
    waitMsMax: 60_000,
    reason: "Too many passwords are waiting to be verified.",
  });
  /** The hash of a random password. */
  readonly #dummy = hash(randomBytes(24));

  /** Throws SERVICE_UNAVAILABLE if the queue is full. */
  requireRoom(): void {
    this.#places.requireRoom();
  }

  /** The hash to store, in PHC format. Throws SERVICE_UNAVAILABLE if too many wait. */
  hash(password: string): Promise<string> {
    return this.#places.run(() => hash(normalized(password)));
  }

  /**
   * Whether the password matches the hash. Null, for a user without a password, returns false after the same time as a wrong password. Throws
   * SERVICE_UNAVAILABLE if too many wait.
   */
  verify(passwordHash: string | null, password: string): Promise<boolean> {
    return this.#places.run(async () => {
      const matches = await verify(passwordHash ?? (await this.#dummy), normalized(password));
      return matches && passwordHash !== null;
    });
  }
}

/** Keyboards encode the same letter in different ways (NIST SP 800-63B). */
function normalized(password: string): string {
  return password.normalize("NFKC");
}
