import { defineCommand } from "../../command.js";
import { confirmation } from "../../confirm.js";
import { projectOptions, yesOption } from "../../options.js";
import { fields } from "../../fields.js";
import { printable } from "../../text.js";

interface Created {
  id: string;
  url: string;
  eventTypes: string[];
  secret: string;
}

export default defineCommand({
  path: "webhooks create",
  describe: "Create a webhook and print its signing secret, once",
  options: {
    ...projectOptions,
    url: { type: "text", required: true, describe: "Where deliveries are posted to" },
    eventType: {
      type: "list",
      describe: "What to deliver, such as customer.activated or segment.*; may be given again; everything unless given",
    },
    ...yesOption,
  },
  examples: [
    ["svc webhooks create --url https://example.com/hook --event-type 'customer.*'", "Deliver changes of lifecycle"],
  ],
  async handler(context, { url, eventType, yes }) {
    const { api, out, settings } = context;
    const { environment, project } = settings;
    const path = api.projectPath("webhooks");
    const confirm = await confirmation(context, { action: "creating a webhook", yes });
    const eventTypes = eventType.length === 0 ? ["*"] : eventType;
    await confirm(`Send ${eventTypes.join(", ")} of project ${project}, ${environment}, to ${url} from now on?`);
    const answer = await api.post<Created>(path, { url, eventTypes }, ["id", "secret"], { env: environment });
    const { id, secret } = answer.data;
    out.result(answer, () =>
      [
        `Created the webhook ${printable(id)} in ${environment}. Keep its secret in a safe place: it is not shown again.`,
        "",
        fields(out, [
          ["URL", printable(answer.data.url)],
          ["Events", printable(answer.data.eventTypes.join(", "))],
          ["Secret", printable(secret)],
        ]),
      ].join("\n"),
    );
  },
});
