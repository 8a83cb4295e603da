// What is done by itself when something happens. Each run is logged with what was expected and what was found.
import { emit, rule } from "svc-success";
import { stages } from "./lifecycle.js";
import { outgrowing } from "./segments.js";

/** Tell sales that an account outgrows its plan, not more often than every thirty days. Webhooks receive `upsell.ready`. */
export const upsell = rule("upsell", {
  on: outgrowing.entered(),
  when: stages.is("activated"),
  cooldown: "30d",
  then: emit("upsell.ready"),
});
