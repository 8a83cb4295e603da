import type { ConsolePage } from "../console-page.js";
import { Ago, Customer, Text } from "../parts.js";
import { deliveryHref } from "./deliveries/words.js";
import { deliveryOf } from "./delivery.js";

const PATH = "resend";

/** Asks whether a delivery is to be sent again. */
export const resendPage: ConsolePage = {
  path: PATH,
  section: null,
  inService: true,
  async answer(visit) {
    const [webhook, delivery] = await deliveryOf(visit);
    const { id, eventType, customerId, nextAttemptAt } = delivery;
    const isAllowed = visit.may("resend_delivery") && webhook.disabledAt === null;
    return {
      title: "Send it again?",
      customerIds: [customerId],
      body: (
        <>
          <p>
            <Text>{webhook.url}</Text> receives <Text>{eventType}</Text> of <Customer id={customerId} /> once more, as
            the same message: a receiver that knows its id does nothing.
          </p>
          {visit.environment === "live" ? (
            <p class="error">
              This is <strong class="live">live</strong>: the message reaches the real receiver.
            </p>
          ) : null}
          {nextAttemptAt === null || webhook.disabledAt !== null ? null : (
            <p class="note">
              It waits already: its next attempt is due <Ago iso={nextAttemptAt} />. Sent again, it is due now.
            </p>
          )}
          {webhook.disabledAt === null ? null : (
            <p class="note">The webhook is disabled: nothing is delivered there until an administrator enables it.</p>
          )}
          {visit.may("resend_delivery") ? null : (
            <p class="note">Your role may not send deliveries again; ask an administrator.</p>
          )}
          {isAllowed ? (
            <form method="post" action={PATH}>
              {visit.token}
              <input type="hidden" name="webhook" value={webhook.id} />
              <input type="hidden" name="id" value={id} />
              <button>Send it again{visit.environment === "live" ? ", live" : ""}</button>
            </form>
          ) : null}
          <p>
            <a href={deliveryHref(webhook.id, id)}>Back to the delivery</a>
          </p>
        </>
      ),
    };
  },
  change: {
    fields: ["webhook", "id"],
    async make({ tell, form: { webhook = "", id = "" } }) {
      await tell("POST webhooks/:webhook/deliveries/:delivery/resend", { webhook, delivery: id });
      return deliveryHref(webhook, id);
    },
  },
};
