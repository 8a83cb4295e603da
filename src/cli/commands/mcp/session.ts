import type { Snapshot } from "../../../model/snapshot/types.js";
import { printable } from "../../../words/text.js";
import type { Context } from "../../core/command.js";
import { activeVersion, getVersion } from "../config/stored-versions.js";
import { Sanitizer, textsIn } from "../ai/sanitizer.js";

/** What may go to the assistant, beyond what may go to any language model. */
export interface AllowedUse {
  allowIds: boolean;
  /** Names of traits and properties all values of which may be sent. */
  allow: readonly string[];
}

/** One call of a tool. */
export interface Call {
  /** Its requests end when the call does. */
  context: Context;
  /** Ends when nobody waits for the answer any more. */
  signal: AbortSignal;
  /** What decides about the values of customers. */
  sanitizer: () => Promise<Sanitizer>;
  /** The id of a customer that is named by it, or by a pseudonym of an earlier answer. */
  customerId: (named: string) => string;
  /** The pseudonym, where it was one. */
  pseudonym?: string;
}

/**
 * What lasts from call to call: pseudonyms, because the assistant hands them back, and the texts of the models that were active. In
 * `svc ai` the command puts identifiers back into the answer; an assistant answers by itself.
 */
export class McpSession {
  readonly #context: Context;
  readonly #allowed: AllowedUse;
  readonly #known = new Set<string>();
  #version: string | null = null;
  #sanitizer: Sanitizer | undefined;

  constructor(context: Context, allowed: AllowedUse) {
    this.#context = context;
    this.#allowed = allowed;
  }

  /** @param signal ends it */
  call(signal: AbortSignal): Call {
    const context = { ...this.#context, api: this.#context.api.until(signal) };
    const call: Call = {
      context,
      signal,
      sanitizer: () => this.#sanitizerFor(context),
      customerId: (named) => {
        const id = this.#sanitizer?.restore(named) ?? named;
        if (id !== named) call.pseudonym = named;
        return id;
      },
    };
    return call;
  }

  /** A name that is misspelt allows nothing; one that is not declared may be sent all the same where the schema is not strict. */
  #noteUndeclared({ out }: Context, version: string, { events, traits }: Snapshot): void {
    const properties = Object.values(events).flatMap((event) => Object.keys(event.properties));
    const declared = new Set([...Object.keys(traits), ...properties]);
    for (const name of this.#allowed.allow.filter((each) => !declared.has(each)))
      out.note(`warning: --allow ${printable(name)}: ${version} declares no trait or property of this name`);
  }

  async #sanitizerFor(context: Context): Promise<Sanitizer> {
    const version = await activeVersion(context);
    if (version !== null && version !== this.#version) {
      const { snapshot } = await getVersion(context, version);
      textsIn(snapshot, this.#known);
      this.#version = version;
      this.#noteUndeclared(context, version, snapshot);
    }
    return (this.#sanitizer ??= new Sanitizer({
      key: context.settings.credentials().accessToken,
      known: this.#known,
      allowed: new Set(this.#allowed.allow),
      showsCustomers: this.#allowed.allowIds,
    }));
  }
}
