import type { ComponentChildren } from "preact";
import type { FormValues, Visit } from "./console-page.js";
import { PageError } from "./page.js";
import { Empty } from "./parts.js";
import { HiddenFields } from "./forms.js";

/** Shows its children to users who may do an operation; tells others whom to ask. */
export function Allowed(props: {
  visit: Visit;
  operation: string;
  /** The operation, to complete "Your role does not allow you to …". */
  what: string;
  /** Who may do it, to complete "ask …". */
  who: string;
  children: ComponentChildren;
}) {
  const { visit, operation, what, who, children } = props;
  return visit.may(operation) ? (
    <>{children}</>
  ) : (
    <Empty>
      Your role does not allow you to {what}; ask {who}.
    </Empty>
  );
}

interface ChangeFormProps {
  visit: Pick<Visit, "token">;
  path: string;
  /** Values of hidden fields, by name. */
  hidden?: Readonly<Record<string, string | undefined>>;
  class?: string;
  children: ComponentChildren;
}

/** A form that requests a change. */
export function ChangeForm({ visit, path, hidden, class: kind, children }: ChangeFormProps) {
  return (
    <form class={kind} method="post" action={path}>
      {visit.token}
      <HiddenFields of={hidden} />
      {children}
    </form>
  );
}

/** Which of these changes a form requests, by its field `as`. @throws {PageError} for none of them */
export function changeIn<Change extends string>(form: FormValues, changes: readonly Change[]): Change {
  const change = changes.find((each) => each === form["as"]);
  if (change !== undefined) return change;
  throw new PageError(400, {
    title: "Nothing was changed",
    message: "The form does not say what to change.",
    fix: "Open the page again and submit its form.",
  });
}

/** Warns that a change affects live data; nothing in test. */
export function Live({ visit, children }: { visit: Visit; children: string }) {
  return visit.environment === "live" ? (
    <p class="error">
      This is <strong class="live">live</strong>: {children}
    </p>
  ) : null;
}

/** The end of a button's text: `, live` in live, nothing in test. */
export const inLive = ({ environment }: Visit): string => (environment === "live" ? ", live" : "");
