import type { ComponentChildren } from "preact";
import type { Filled, Visit } from "./console-page.js";
import { PageError } from "./page.js";
import { Empty } from "./parts.js";
import { HiddenFields } from "./forms.js";

/** What is there for those who may do an operation; others are told who may. */
export function Allowed(props: {
  visit: Visit;
  operation: string;
  /** What they may not. */
  what: string;
  /** Who may. */
  who: string;
  children: ComponentChildren;
}) {
  const { visit, operation, what, who, children } = props;
  return visit.may(operation) ? (
    <>{children}</>
  ) : (
    <Empty>
      Your role may not {what}; ask {who}.
    </Empty>
  );
}

interface ChangeFormProps {
  visit: Pick<Visit, "token">;
  path: string;
  /** What it carries unseen, by the names of its fields. */
  hidden?: Readonly<Record<string, string | undefined>>;
  class?: string;
  children: ComponentChildren;
}

/** A form that asks for a change. */
export function ChangeForm({ visit, path, hidden, class: kind, children }: ChangeFormProps) {
  return (
    <form class={kind} method="post" action={path}>
      {visit.token}
      <HiddenFields of={hidden} />
      {children}
    </form>
  );
}

/** Which of these changes a form asks for. @throws {PageError} for none of them */
export function changeIn<Change extends string>(form: Filled, changes: readonly Change[]): Change {
  const asked = changes.find((each) => each === form["as"]);
  if (asked !== undefined) return asked;
  throw new PageError(400, {
    title: "Nothing was changed",
    message: "The form does not say what is to be changed.",
    fix: "Open the page again and send its form.",
  });
}

/** Says that what happens here happens to what is real; nothing in test. */
export function Live({ visit, children }: { visit: Visit; children: string }) {
  return visit.environment === "live" ? (
    <p class="error">
      This is <strong class="live">live</strong>: {children}
    </p>
  ) : null;
}

/** What the button of a change in an environment ends with. */
export const inLive = ({ environment }: Visit): string => (environment === "live" ? ", live" : "");
