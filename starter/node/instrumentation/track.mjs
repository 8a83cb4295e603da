// Sends events and traits to svc: a customer's first day, as an example of what your backend calls.
//
//   SVC_API_KEY=svc_test_… node instrumentation/track.mjs
//
// The client is a package of its own, which README.md says how to install; it needs nothing but Node.js. The key may write events, so keep it
// on servers.
import { createClient } from "svc-success-client";

const url = process.env.SVC_API_URL || "{{API_URL}}";
const apiKey = process.env.SVC_API_KEY;

/** May be sent again: the keys see to it that nothing is counted twice. */
async function example(client) {
  const customerId = "cus_example";
  const track = (event, idempotencyKey, properties) => client.track({ customerId, event, properties, idempotencyKey });
  client.identify({
    customerId,
    traits: { companyName: "Example", plan: "starter", seats: 12, renewsOn: "2030-01-31" },
  });
  track("signed_up", `signed_up/${customerId}`, { source: "website" });
  track("logged_in", "session/1");
  track("project_created", "project/1", { template: "launch" });
  track("member_invited", "invitation/1", { role: "member" });
  track("feature_used", "use/1", { feature: "board" });
  track("invoice_paid", "invoice/1", { amount: 120, currency: "EUR" });
  await client.flush({ timeoutMs: 60_000 });
  console.log(`Sent. See where it stands: svc customers inspect ${customerId}`);
}

async function main() {
  if (!apiKey) return fail("set SVC_API_KEY to the key that was printed when the project was made");
  // One for the whole process. In a backend, keep it, and close it when the process is asked to end.
  const onError = ({ operation, code, message }) =>
    operation && fail(`${code}: ${message}: ${JSON.stringify(operation)}`);
  const client = createClient({ url, apiKey, onError });
  await example(client).catch((error) => fail(`${url} took nothing: ${error.code}: ${error.message}`));
  await client.close();
}

function fail(message) {
  console.error(message);
  process.exitCode = 1;
}

await main();
