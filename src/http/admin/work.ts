import type { Sql } from "postgres";
import { LanguageModel, type LanguageModelSettings } from "../../ai/language-model.js";
import { createAgent, USER_AGENT } from "../../webhooks/agent.js";
import { ATTEMPT_TIMEOUT_MS, sendMessage, type WebhookMessage } from "../../webhooks/send.js";
import { secretOpener } from "../../webhooks/secret.js";
import { ComputeThread } from "../compute/compute-thread.js";
import { Semaphore } from "../semaphore.js";

/** Explanations are computed in one thread; two at once keep the database busy while one computes. */
const EXPLANATIONS = 2;
const EXPORTS = 4;
/** An erasure writes much at once. */
const ERASURES = 1;

/** An organization leaves places to the others, at work and in the line. */
const FAIRLY = { placesEach: 1, waitingMax: 50, each: 26, waitMsMax: 10_000 };

/** How many connections `createCustomerWork` uses at most. */
export const CUSTOMER_WORK_CONNECTIONS = EXPLANATIONS + EXPORTS + ERASURES;

/**
 * What takes longer than a look-up, with connections and places of its own: ingestion never waits for any of it. Of explanations, exports and
 * erasures an organization has one at work at most.
 *
 * @param sql a pool of CUSTOMER_WORK_CONNECTIONS that may pipeline, for the driver's transactions, and lets statements take minutes
 */
export function createCustomerWork(sql: Sql) {
  return {
    sql,
    /** Explains, and compares versions. */
    thread: new ComputeThread(),
    explanations: new Semaphore({ ...FAIRLY, places: EXPLANATIONS, reason: "Too many customers are being explained." }),
    exports: new Semaphore({ ...FAIRLY, places: EXPORTS, reason: "Too many customers are being exported." }),
    erasures: new Semaphore({ ...FAIRLY, places: ERASURES }),
  };
}

export type CustomerWork = ReturnType<typeof createCustomerWork>;

/** Requests to others, of whom nobody knows when they answer. Waiting or sent: an organization's may hang without anybody else's waiting for them. */
const ASKING = { places: 16, each: 4, waitingMax: 20, waitMsMax: 10_000 };

/** The language model, with the places of the organizations that ask it: an answer takes minutes, in which its place holds nothing but memory. */
export function createAiQuestions(settings: LanguageModelSettings) {
  const places = new Semaphore({
    ...ASKING,
    reason: "Too many questions to the language model are under way.",
    reasonEach: "Too many questions of this organization to the language model are under way.",
  });
  return { model: new LanguageModel(settings), defaultModel: settings.model, places };
}

export type AiQuestions = ReturnType<typeof createAiQuestions>;

interface WebhookTestsOptions {
  /** Of `sealingKey`: opens the signing secrets. */
  key: Buffer;
  allowPrivate: boolean;
  /** How long a receiver has; as long as it has for a delivery unless given. */
  timeoutMs?: number;
}

/**
 * Requests that people make to try webhooks, from this process: a receiver that hangs holds a place and nothing else. Dials nothing before the
 * first test.
 */
export function createWebhookTests({ key, allowPrivate, timeoutMs = ATTEMPT_TIMEOUT_MS }: WebhookTestsOptions) {
  const places = new Semaphore({
    ...ASKING,
    reason: "Too many webhooks are being tested.",
    reasonEach: "Too many webhooks of this organization are being tested.",
  });
  const agent = createAgent({ allowPrivate });
  const options = { agent, openSecret: secretOpener(key), userAgent: USER_AGENT, timeoutMs };
  return {
    /**
     * Does the work of a test once there is a place for it. Throws QueueFullError where there is none in time, and where the organization has
     * as many under way as it may.
     */
    run: <T>(organizationId: string, work: () => Promise<T>) => places.run(work, organizationId),
    /** Sends a message once, signed as of `at`, by an agent of its own that checks addresses as the worker's does. Never rejects. */
    send: (message: WebhookMessage, at: Date) => sendMessage(message, at, options),
    /** Ends what is under way. */
    close: () => agent.destroy(),
  };
}

export type WebhookTests = ReturnType<typeof createWebhookTests>;
