import type { ConsolePage } from "../console-page.js";
import { Allowed, ChangeForm, inLive, Live } from "../changes.js";
import { Ago, Customer, LinkLine, Text } from "../parts.js";
import { deliveryHref } from "./deliveries/words.js";
import { deliveryOf } from "./delivery.js";

const PATH = "resend";

/** Asks whether a delivery is to be sent again. */
export const resendPage: ConsolePage = {
  path: PATH,
  inService: true,
  async answer(visit) {
    const [webhook, delivery] = await deliveryOf(visit);
    const { id, eventType, customerId, nextAttemptAt } = delivery;
    return {
      title: "Send it again?",
      customerIds: [customerId],
      body: (
        <>
          <p>
            <Text>{webhook.url}</Text> receives <Text>{eventType}</Text> of <Customer id={customerId} /> once more, as
            the same message: a receiver that knows its id does nothing.
          </p>
          <Live visit={visit}>the message reaches the real receiver.</Live>
          {nextAttemptAt === null || webhook.disabledAt !== null ? null : (
            <p class="note">
              It waits already: its next attempt is due <Ago iso={nextAttemptAt} />. Sent again, it is due now.
            </p>
          )}
          {webhook.disabledAt === null ? null : (
            <p class="note">The webhook is disabled: nothing is delivered there until an administrator enables it.</p>
          )}
          <Allowed visit={visit} operation="resend_delivery" what="send deliveries again" who="an administrator">
            {webhook.disabledAt === null ? (
              <ChangeForm visit={visit} path={PATH} hidden={{ webhook: webhook.id, id }}>
                <button>Send it again{inLive(visit)}</button>
              </ChangeForm>
            ) : null}
          </Allowed>
          <LinkLine href={deliveryHref(webhook.id, id)} text="Back to the delivery" />
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
