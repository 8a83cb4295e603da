// Sends batches, one after another: requests that overlap may be taken in any order, and the order of a customer's operations matters.
import { Refusal, request } from "./http.mjs";
import { Mistake } from "./mistake.mjs";

/**
 * Sends the operations of these records in one request, and returns `{ accepted, isLocal }`: the records that were accepted, which are all
 * of them unless `onRejected` takes those that the service refuses, and whether `svc dev` took them. Throws a Mistake that names the row otherwise, and a Refusal that is of no row.
 */
export async function send(records, { target, tries, signal, note, onRejected, place }) {
  let left = records;
  while (left.length > 0) {
    try {
      const answer = await request({
        url: target.url,
        path: "/v1/events/batch",
        headers: { authorization: `Bearer ${target.apiKey}`, "content-type": "application/json" },
        body: { events: left.map(({ operation }) => operation) },
        ...{ tries, signal, note },
      });
      // The service does not say where customers stand: it evaluates them later.
      if (answer?.accepted === left.length) return { accepted: left, isLocal: answer.states !== undefined };
      throw new Mistake(`${target.url} does not answer as the service does: ${JSON.stringify(answer).slice(0, 200)}`);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (error.status === 401)
        throw new Mistake(
          `${target.url} does not know the API key; set SVC_API_KEY to one of the project and environment`,
        );
      const reasons = reasonsByIndex(error);
      if (reasons.size === 0) throw error;
      if (onRejected === null) {
        const [[index, reason]] = reasons;
        throw new Mistake(`${place(left[index])}: ${reason}`);
      }
      for (const [index, reason] of reasons) onRejected(left[index], reason);
      left = left.filter((_, index) => !reasons.has(index));
    }
  }
  return { accepted: left, isLocal: false };
}

/** Which operations of the batch were refused, and why, in their order. Where the schema is violated, all of them are named. */
function reasonsByIndex({ status, error }) {
  const reasons = new Map();
  for (const { code, path, message, value } of [...(error.diagnostics ?? []), { ...error, path: error.field }]) {
    const [, index, field] = /^events\[(\d+)\]\.?(.*)$/.exec(path ?? "") ?? [];
    if (index === undefined || reasons.has(Number(index))) continue;
    // The place in the request says nothing to whoever has the row.
    const named = message.replaceAll(`events[${index}].`, "");
    const sent = typeof value === "string" ? JSON.stringify(value) : "";
    reasons.set(Number(index), [status, code, field, sent, named].filter(Boolean).join(" "));
  }
  return new Map([...reasons].toSorted(([a], [b]) => a - b));
}
