import type { Snapshot } from "../../../model/snapshot/types.js";
import { printable } from "../../../words/text.js";
import type { Context } from "../../core/command.js";
import { activeVersion, getVersion } from "../config/stored-versions.js";
import { Sanitizer, textsIn } from "../ai/sanitizer.js";

/** What may be sent to the assistant, beyond what may be sent to any language model. */
export interface AllowedUse {
  allowIds: boolean;
  /** Names of traits and properties whose values may all be sent. */
  allow: readonly string[];
}

/** One call of a tool. */
export interface Call {
  /** Its requests are aborted when the call is. */
  context: Context;
  /** Aborted when the client cancels the call. */
  signal: AbortSignal;
  /** Decides which customer values may be sent. */
  sanitizer: () => Promise<Sanitizer>;
  /** The id of a customer that is named by its id, or by a pseudonym from an earlier answer. */
  customerId: (named: string) => string;
  /** The pseudonym, if the customer was named by one. */
  pseudonym?: string;
}

/**
 * State kept between calls: pseudonyms, because the assistant sends them back, and the texts of the models that were active. In `svc ai`
 * the command restores identifiers in the answer; an assistant answers by itself.
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

  /** @param signal aborts the call */
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

  /** Warns of allowed names that are not declared: they may be misspelt. They can still occur if the schema is not strict. */
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
