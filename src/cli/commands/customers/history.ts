import type { CustomerState, Emission, LifecycleTransition } from "../../../http/admin/answers.js";
import { causeInWords, metadataInWords, plural } from "../../../words/text.js";
import { readList } from "../../client/pages.js";
import {
  csvPageOptions,
  defineCommand,
  projectOptions,
  reverseOption,
  supersededOption,
  travelOptions,
} from "../../core/command.js";
import { UsageError } from "../../core/errors.js";
import { page, printCsv, printList, recordColumn } from "../../output/table.js";
import { travelInWords } from "./explanation.js";

/** The further members of a past instant's timeline. */
type Replayed = Partial<Pick<CustomerState, "at" | "exactFrom" | "configVersion">> & { omitted?: number };

export default {
  timeline: defineCommand({
    args: { customerId: "The customer's id" },
    options: {
      ...projectOptions,
      ...reverseOption,
      ...travelOptions,
      ...csvPageOptions,
    },
    examples: [
      ["svc customers timeline cus_42", "Every change and its cause, oldest first"],
      ["svc customers timeline cus_42 --reverse --limit 5", "What happened last"],
      ["svc customers timeline cus_42 --at 30d --version v2", "What v2 would have emitted until 30 days ago"],
    ],
    async handler(context, { customerId, reverse, limit, cursor, at, version, csv }) {
      const query = { reverse, limit, cursor, at, version };
      const { api, out } = context;
      const path = ["customers", customerId, "timeline"] as const;
      if (csv) {
        if (at !== undefined || version !== undefined)
          throw new UsageError(
            "the timeline of a past instant cannot be printed as CSV",
            "leave out --csv, or --at and --version",
          );
        return printCsv(context, query, path);
      }
      const answer = await readList<Emission, Replayed>(api, path, query);
      const { omitted = 0, configVersion = null, at: then, exactFrom } = answer.data;
      page(out, answer, {
        heading: travelInWords(out, { at: then, exactFrom, configVersion }),
        none: "Nothing happened to this customer's state yet.",
        columns: [
          { title: "At", value: ({ timestamp }) => context.out.at(timestamp), fixed: true },
          { title: "Type", value: ({ eventType }) => eventType, kept: true, style: context.out.style.cyan },
          { title: "What", value: ({ metadata }) => metadataInWords(metadata) },
          { title: "Cause", value: ({ cause }) => causeInWords(cause), fixed: true, optional: true },
        ],
      });
      if (omitted > 0 && !out.json)
        out.note(`${plural(omitted, "earlier one")} left out: add --limit, or name an earlier --at`);
    },
  }),

  transitions: defineCommand({
    args: { customerId: "The customer's id" },
    options: { ...projectOptions, ...supersededOption, ...csvPageOptions },
    examples: [
      ["svc customers transitions cus_42", "Which lifecycle states the customer was in, newest first"],
      ["svc customers transitions cus_42 --superseded", "Also what was recorded before a recompute"],
    ],
    async handler(context, { customerId, superseded, limit, cursor, csv }) {
      const { out } = context;
      const query = { superseded, limit, cursor };
      await printList<LifecycleTransition>(context, query, ["customers", customerId, "transitions"], {
        csv,
        none: "This customer's lifecycle has not begun.",
        columns: [
          { title: "At", value: ({ at }) => out.at(at), fixed: true },
          { title: "From", value: ({ from }) => from ?? "" },
          { title: "To", value: ({ to }) => to },
          { title: "Cause", value: ({ cause }) => causeInWords(cause), fixed: true, optional: true },
          { title: "Model", value: ({ configVersion }) => configVersion ?? "", optional: true },
          ...recordColumn<LifecycleTransition>(superseded),
        ],
      });
    },
  }),
};
