/** The neighbour's occasional requests about one of its customers, which must be served however many others are sent. */
import { setTimeout as delay } from "node:timers/promises";
import { Agent, request } from "undici";
import type { ObserverSettings } from "./figures.js";
import { customerOf } from "./neighbour.js";

const EVERY_MS = 1_000;
const ANSWER_MS_MAX = 60_000;
const KINDS = ["explanation", "export"] as const;

export class Questions {
  readonly #agent = new Agent({ connections: 2, pipelining: 1, headersTimeout: ANSWER_MS_MAX });
  #refused: Record<string, number> = {};

  constructor(private readonly settings: ObserverSettings) {}

  /** Sends requests forever, one after the other. */
  async run(): Promise<void> {
    for (let index = 0; ; index++) {
      await delay(EVERY_MS); // afterwards the first customer exists
      const kind = KINDS[index % KINDS.length]!;
      const how = await this.#ask(kind).catch((error: unknown) => (error as { code?: string }).code ?? String(error));
      if (how === "200") continue;
      const name = `${kind}: ${how}`;
      this.#refused[name] = (this.#refused[name] ?? 0) + 1;
    }
  }

  /** Counts of answers other than 200 since the last call. */
  take(): Record<string, number> {
    const refused = this.#refused;
    this.#refused = {};
    return refused;
  }

  async #ask(kind: string): Promise<string> {
    const { url, project, credentials } = this.settings;
    const { statusCode, body } = await request(
      `${url}/projects/${project}/customers/${customerOf(0)}/${kind}?env=test`,
      {
        dispatcher: this.#agent,
        headers: {
          authorization: `Bearer ${credentials.accessToken}`,
          "x-svc-organization": credentials.organizationId,
        },
      },
    );
    await body.dump();
    return String(statusCode);
  }
}
