import { createHash } from "node:crypto";
import type { PageVisit } from "./page-route.js";

/** How long an outcome is kept: longer than from one click to the next, however far away the browser is. */
const KEPT_MS = 5_000;

/**
 * The outcomes of forms that were just sent. A double click sends a form twice, and the browser shows only the second answer: it must be that
 * of the first, or a secret that is shown once would never be seen.
 */
export class SentForms<Outcome> {
  readonly #outcomes = new Map<string, Promise<Outcome>>();

  /** Makes what a form asks for, unless this very form, of the page as it was shown once, was just sent: then that outcome is returned. */
  once({ ctx, form }: Pick<PageVisit<string>, "ctx" | "form">, make: () => Promise<Outcome>): Promise<Outcome> {
    // With the form's token, which belongs to one session and is another one each time that a page is shown. It may hold a password.
    const key = createHash("sha256")
      .update(JSON.stringify([ctx.path, form]))
      .digest("base64");
    const known = this.#outcomes.get(key);
    if (known !== undefined) return known;
    const outcome = make();
    this.#outcomes.set(key, outcome);
    const forget = () => this.#outcomes.delete(key);
    outcome.then(() => setTimeout(forget, KEPT_MS).unref(), forget);
    return outcome;
  }
}
