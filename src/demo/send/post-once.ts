/** One request of a client of the ingestion API. */
import { request, type Dispatcher } from "undici";

export interface PostOptions {
  apiKey: string;
  dispatcher: Dispatcher;
  signal?: AbortSignal | undefined;
}

export interface Answer {
  status: number;
  text: string;
  headers: Dispatcher.ResponseData["headers"];
}

/** How long an answer may take. A request is safe to send again, so a silent connection is given up like a broken one. */
const ANSWER_WITHIN_MS = 60_000;

/** Posts a JSON text, and returns whatever was answered. Rejects where there was no answer. */
export async function postOnce(url: string, json: string, options: PostOptions): Promise<Answer> {
  const { apiKey, dispatcher, signal = null } = options;
  const { statusCode, headers, body } = await request(url, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    body: json,
    dispatcher,
    signal,
    headersTimeout: ANSWER_WITHIN_MS,
    bodyTimeout: ANSWER_WITHIN_MS,
  });
  return { status: statusCode, text: await body.text(), headers };
}
