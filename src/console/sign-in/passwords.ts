import { randomBytes } from "node:crypto";
import { hash, verify } from "@node-rs/argon2";
import { Semaphore } from "../../http/semaphore.js";

/**
 * Hashes and verifies passwords by argon2id with the library's parameters, those of OWASP: 19 MiB and 2 passes. Only so many at once: each takes
 * that memory and a processor for some 20 ms, and anybody may ask for it.
 */
export class Passwords {
  readonly #places = new Semaphore({
    places: 2,
    waitingMax: 50,
    // Far longer than as many take.
    waitMsMax: 60_000,
    reason: "Too many passwords wait to be verified.",
  });
  /** Of a password that nobody has. */
  readonly #dummy = hash(randomBytes(24));

  /** Throws SERVICE_UNAVAILABLE where another one could not even wait now. */
  requireRoom(): void {
    this.#places.requireRoom();
  }

  /** The hash to be stored, in PHC form. Throws SERVICE_UNAVAILABLE where too many wait. */
  hash(password: string): Promise<string> {
    return this.#places.run(() => hash(normalized(password)));
  }

  /**
   * Whether it is the password of the hash. Null, for a user that has none, is false after the same time as a wrong password. Throws
   * SERVICE_UNAVAILABLE where too many wait.
   */
  verify(passwordHash: string | null, password: string): Promise<boolean> {
    return this.#places.run(async () => {
      const matches = await verify(passwordHash ?? (await this.#dummy), normalized(password));
      return matches && passwordHash !== null;
    });
  }
}

/** Keyboards write the same letter in different ways (NIST SP 800-63B). */
function normalized(password: string): string {
  return password.normalize("NFKC");
}
