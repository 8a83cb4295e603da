import type { Sql } from "postgres";
import { LanguageModel, type LanguageModelSettings } from "../../ai/language-model.js";
import { createAgent } from "../../webhooks/agent.js";
import { ATTEMPT_TIMEOUT_MS, sendMessage, type WebhookMessage } from "../../webhooks/send.js";
import { secretOpener } from "../../webhooks/secret.js";
import { ComputeThread } from "../compute/compute-thread.js";
import { Semaphore } from "../semaphore.js";

/** Explanations are computed in one thread; with two at once, the database works for one while the thread computes the other. */
const EXPLANATIONS = 2;
const EXPORTS = 4;
/** Only one, because an erasure writes a lot at once. */
const ERASURES = 1;

/** Limits that leave running and waiting places to other organizations. */
export const FAIRLY = { placesEach: 1, waitingMax: 50, each: 26, waitMsMax: 10_000 };

/** The most connections that `createCustomerWork` uses. */
export const CUSTOMER_WORK_CONNECTIONS = EXPLANATIONS + EXPORTS + ERASURES;

/**
 * Runs work that takes longer than a look-up, with separate connections and places, so that ingestion never waits for it. An organization can run
 * one explanation, one export and one erasure at a time.
 *
 * @param sql a pool of CUSTOMER_WORK_CONNECTIONS that may pipeline, for the driver's transactions, and lets statements take minutes
 */
export function createCustomerWork(sql: Sql) {
  return {
    sql,
    /** Computes explanations, time travel, and differences of versions. */
    thread: new ComputeThread(),
    explanations: new Semaphore({ ...FAIRLY, places: EXPLANATIONS, reason: "Too many customers are being explained." }),
    exports: new Semaphore({ ...FAIRLY, places: EXPORTS, reason: "Too many customers are being exported." }),
    erasures: new Semaphore({ ...FAIRLY, places: ERASURES }),
  };
}

export type CustomerWork = ReturnType<typeof createCustomerWork>;

/** Limits of requests to external services, which may hang: those of one organization do not make others wait. */
const EXTERNAL_REQUESTS = { places: 16, each: 4, waitingMax: 20, waitMsMax: 10_000 };

/** The language model, with places for questions: an answer takes minutes, during which its place costs only memory. */
export function createAiQuestions(settings: LanguageModelSettings) {
  const places = new Semaphore({
    ...EXTERNAL_REQUESTS,
    reason: "Too many questions to the language model are in progress.",
    reasonEach: "Too many questions of this organization to the language model are in progress.",
  });
  return { model: new LanguageModel(settings), defaultModel: settings.model, places };
}

export type AiQuestions = ReturnType<typeof createAiQuestions>;

interface WebhookTestsOptions {
  /** The result of `sealingKey`; opens the signing secrets. */
  key: Buffer;
  allowPrivate: boolean;
  /** How long a receiver may take; by default as long as for a delivery. */
  timeoutMs?: number;
}

/**
 * Sends the requests by which people test webhooks, from this process: a receiver that hangs uses only a place. Connects to nothing before the
 * first test.
 */
export function createWebhookTests({ key, allowPrivate, timeoutMs = ATTEMPT_TIMEOUT_MS }: WebhookTestsOptions) {
  const places = new Semaphore({
    ...EXTERNAL_REQUESTS,
    reason: "Too many webhooks are being tested.",
    reasonEach: "Too many webhooks of this organization are being tested.",
  });
  const agent = createAgent({ allowPrivate });
  const options = { agent, openSecret: secretOpener(key), timeoutMs };
  return {
    /**
     * Runs `work` once a place is free. Throws QueueFullError if there is none in time, or if the organization already runs or waits for as many
     * tests as it may.
     */
    run: <T>(organizationId: string, work: () => Promise<T>) => places.run(work, organizationId),
    /** Sends a message once, signed as of `at`, by a separate agent that checks addresses like that of the worker. Never rejects. */
    send: (message: WebhookMessage, at: Date) => sendMessage(message, at, options),
    /** Aborts running tests. */
    close: () => agent.destroy(),
  };
}

export type WebhookTests = ReturnType<typeof createWebhookTests>;
