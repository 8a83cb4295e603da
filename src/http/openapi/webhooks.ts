import type { RequestParameter } from "./endpoint.js";

const header = (name: string, description: string): RequestParameter => ({
  name,
  in: "header",
  required: true,
  description,
  schema: { type: "string" },
});

/** What the service sends to the receivers of webhooks, as OpenAPI's `webhooks`. Its body is a component, because the API shows it, too. */
export const WEBHOOKS = {
  emission: {
    post: {
      operationId: "receiveEmission",
      summary: "Receive an emission",
      description:
        "Sent to a webhook of the format `json`, at least once. Verify the signature over the bytes of the body, record the id with your work, and answer any 2xx within 15 seconds: `/docs/webhooks`.",
      tags: ["Webhooks"],
      security: [],
      parameters: [
        header("webhook-id", "The id of the emission, the same at every attempt; also as `svc-event-id`."),
        header("webhook-timestamp", "When this attempt was sent, in seconds since 1970."),
        header(
          "webhook-signature",
          "`v1,` and a signature in base64; during a rotation two of them, separated by a space.",
        ),
      ],
      requestBody: {
        required: true,
        content: { "application/json": { schema: { $ref: "#/components/schemas/DeliveryBody" } } },
      },
      responses: {
        "2XX": { description: "It is stored, and not sent again." },
        410: { description: "Disables the webhook." },
        default: { description: "It is sent again later." },
      },
    },
  },
};
