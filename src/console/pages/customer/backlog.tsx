import type { Backlog as BacklogAnswer } from "../../../http/admin/answers.js";
import { formatNumber, plural, printable } from "../../../words/text.js";
import { At } from "../../parts.js";

/** What the state does not hold yet; nothing where it is complete. */
export function BacklogNote({ backlog: { pending, ahead, setAside } }: { backlog: BacklogAnswer }) {
  if (setAside !== null) {
    return (
      <p class="error" role="alert">
        Set aside since <At iso={setAside.at} />, because its evaluation failed, with {plural(pending, "operation")}{" "}
        waiting: {printable(setAside.error ?? "unknown")}. Once the cause is mended, it can be released.
      </p>
    );
  }
  if (pending === 0) return null;
  return (
    <p class="note" role="status">
      {plural(pending, "operation")} waiting to be evaluated
      {ahead === 0 ? "" : `, ${formatNumber(ahead)} of them because their time has not come`}.
    </p>
  );
}
