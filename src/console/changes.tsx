import type { ComponentChildren } from "preact";
import type { FormValues, RefusedForm, Visit } from "./console-page.js";
import { PageError } from "./page.js";
import { address, Empty } from "./parts.js";
import { HiddenFields, useSent, WithSent } from "./forms.js";

/** Shows its children to users who may do an operation; tells others whom to ask. Those who just lost the permission keep what they sent. */
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
  return (
    <>
      {visit.may(operation) ? null : (
        <Empty>
          Your role does not allow you to {what}; ask {who}.
        </Empty>
      )}
      {showsForm(visit, operation) ? children : null}
    </>
  );
}

/** Whether to show a form of an operation: to users who may do it, and to those whose form was just refused. */
export function showsForm({ may, refused }: Visit, operation: string): boolean {
  return may(operation) || refused !== undefined;
}

interface ChangeFormProps {
  visit: Pick<Visit, "token" | "query" | "refused">;
  /** The page that shows the form, which also makes the change. */
  path: string;
  /** Values of hidden fields, by name. If the page has several forms, `as` tells them apart. */
  hidden?: Readonly<Record<string, string | undefined>>;
  class?: string;
  children: ComponentChildren;
}

/** A form that requests a change. It is sent to its page with the page's query, so that a refusal can show the same page again. */
export function ChangeForm({ visit, path, hidden, class: kind, children }: ChangeFormProps) {
  const { token, query, refused } = visit;
  const mine = refused?.form["as"] === hidden?.["as"] ? refused : undefined;
  return (
    <>
      {mine && <Refusal of={mine} />}
      <form class={kind} method="post" action={address(path, query)}>
        {token}
        <HiddenFields of={hidden} />
        <WithSent value={mine?.form ?? {}}>{children}</WithSent>
      </form>
    </>
  );
}

/** Why a form was refused. */
export function Refusal({ of: refused }: { of: RefusedForm }) {
  refused.isShown = true;
  return <RefusalNote>{refused.note}</RefusalNote>;
}

/** The frame of such a note. It has the focus, so that browsers show it wherever it is on the page, and the next Tab leads to the form. */
export function RefusalNote({ children }: { children: ComponentChildren }) {
  return (
    <div class="error" tabIndex={-1} autofocus>
      {children}
    </div>
  );
}

/** A labelled text field of a form that requests a change. */
export function TextField(props: {
  label: string;
  name: string;
  type?: "text" | "email" | "number";
  value?: string;
  isOptional?: boolean;
  /** Of a number. */
  min?: number;
  maxLength?: number;
  pattern?: string;
  /** The id of a list of suggestions. */
  list?: string;
  /** Shown below the field. */
  hint?: ComponentChildren;
}) {
  const { label, name, type = "text", value, isOptional = false, min, maxLength, pattern, list, hint } = props;
  const hintId = hint === undefined ? undefined : `${name}-hint`;
  return (
    <>
      <label for={name}>{label}</label>
      <input
        id={name}
        name={name}
        // oxlint-disable-next-line typescript/no-unnecessary-type-assertion -- TypeScript 7 wants one type where 6 takes either
        type={type as "text"}
        value={useSent(name) ?? value}
        required={!isOptional}
        min={min}
        maxLength={maxLength}
        pattern={pattern}
        list={list}
        autocomplete="off"
        aria-describedby={hintId}
      />
      {hint === undefined ? null : (
        <p class="hint" id={hintId}>
          {hint}
        </p>
      )}
    </>
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
