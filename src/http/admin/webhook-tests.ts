import type { AttemptOutcome, SendOptions, WebhookMessage } from "../../webhooks/send.js";
import { SealedSecretError, secretOpener } from "../../webhooks/secret.js";
import { Semaphore } from "../semaphore.js";

/** Requests that people make to try webhooks, from this process: a receiver that hangs holds a place and nothing else. */
export interface WebhookTests {
  /**
   * Does the work of a test once there is a place for it. Throws QueueFullError where there is none in time, and where the
   * organization has as many under way as it may.
   */
  run<T>(organizationId: string, work: () => Promise<T>): Promise<T>;
  /** Sends a message once, signed as of `at`, by an agent of its own that checks addresses as the worker's does. Never rejects. */
  send(message: WebhookMessage, at: Date): Promise<SentTest>;
  /** Ends what is under way. */
  close(): Promise<void>;
}

export interface SentTest {
  outcome: AttemptOutcome;
  /** Of the request; none where a secret does not open, so that nothing was sent. */
  headers: Readonly<Record<string, string>>;
}

export interface WebhookTestsOptions {
  /** Of `sealingKey`: opens the signing secrets. */
  key: Buffer;
  allowPrivate: boolean;
  /** How long a receiver has; as long as it has for a delivery unless given. */
  timeoutMs?: number;
}

const TESTS = 16;
/** Of one organization, waiting or sent: its receivers may hang without anybody else's tests having to wait for them. */
const TESTS_PER_ORGANIZATION = 4;
const WAITING_MAX = 20;
const WAIT_MS_MAX = 10_000;

/** Dials nothing before the first test. */
export function createWebhookTests({ key, allowPrivate, timeoutMs }: WebhookTestsOptions): WebhookTests {
  const places = new Semaphore({
    places: TESTS,
    each: TESTS_PER_ORGANIZATION,
    waitingMax: WAITING_MAX,
    waitMsMax: WAIT_MS_MAX,
    reason: "Too many webhooks are being tested.",
    reasonEach: "Too many webhooks of this organization are being tested.",
  });
  const openSecret = secretOpener(key);
  // Loaded with the first test: a process is ready sooner, and most test nothing.
  const load = async () => {
    const { createAgent, USER_AGENT } = await import("../../webhooks/agent.js");
    const { ATTEMPT_TIMEOUT_MS, sendMessage, signedHeaders } = await import("../../webhooks/send.js");
    const options: SendOptions = {
      agent: createAgent({ allowPrivate }),
      openSecret,
      userAgent: USER_AGENT,
      timeoutMs: timeoutMs ?? ATTEMPT_TIMEOUT_MS,
    };
    return { options, sendMessage, signedHeaders };
  };
  let client: ReturnType<typeof load> | undefined;
  return {
    run: (organizationId, work) => places.run(work, organizationId),
    async send(message, at) {
      client ??= load();
      const { options, sendMessage, signedHeaders } = await client;
      const outcome = await sendMessage(message, at, options);
      return { outcome, headers: headersOf(() => signedHeaders(message, at, options)) };
    },
    async close() {
      await (await client)?.options.agent.destroy();
    },
  };
}

/** A secret that does not open is the outcome already. */
function headersOf(sign: () => Record<string, string>): Record<string, string> {
  try {
    return sign();
  } catch (error) {
    if (error instanceof SealedSecretError) return {};
    throw error;
  }
}
