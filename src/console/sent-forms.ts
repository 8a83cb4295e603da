import { createHash } from "node:crypto";
import { outdatedForm, type PageVisit } from "./page-route.js";

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
    const key = keyOf(ctx.path, form);
    const known = this.#outcomes.get(key);
    if (known !== undefined) return known;
    const outcome = make();
    this.#outcomes.set(key, outcome);
    const forget = () => this.#outcomes.delete(key);
    outcome.then(() => setTimeout(forget, KEPT_MS).unref(), forget);
    return outcome;
  }

  /**
   * The outcome of this very form if it was just sent; throws a PageError (403) if it was not. For forms whose work begins or ends a session, and so
   * ends their own token before a second click. Another browser may have sent it first, so what it gets must not be a secret.
   */
  again({ ctx, form }: Pick<PageVisit<string>, "ctx" | "form">): Promise<Outcome> {
    const known = this.#outcomes.get(keyOf(ctx.path, form));
    if (known === undefined) throw outdatedForm();
    return known;
  }
}

/** With the form's token, which belongs to one session and is another one each time that a page is shown. The form may hold a password. */
function keyOf(path: string, form: PageVisit<string>["form"]): string {
  return createHash("sha256")
    .update(JSON.stringify([path, form]))
    .digest("base64");
}
