import { html, type Html } from "./page.js";

export interface FormField {
  /** Also the element's id. */
  name: string;
  label: string;
  type: "text" | "email" | "password";
  /** What a browser or password manager may fill in. */
  autocomplete: "username" | "current-password" | "new-password" | "one-time-code";
  value?: string | undefined;
  hint?: string;
  /** What is wrong with what was entered. */
  problem?: string | null;
  /** The id of a message above the form that concerns the field. */
  describedBy?: string | undefined;
  autofocus?: boolean;
  /** Shown, and not sent: there for whoever reads, and for password managers. */
  shown?: boolean;
}

/** A labelled field of a form, with its hint and what is wrong with it tied to it. */
export function field(of: FormField): Html {
  const { name, label, type, autocomplete, value, hint, problem = null, describedBy } = of;
  const described = [
    describedBy,
    hint === undefined ? undefined : `${name}-hint`,
    problem === null ? undefined : `${name}-problem`,
  ].filter((id) => id !== undefined);
  const invalid = problem !== null || describedBy !== undefined;
  return html`<label for="${name}">${label}</label>
    <input
      id="${name}"
      type="${type}"
      autocomplete="${autocomplete}"
      autocapitalize="none"
      spellcheck="false"
      ${of.shown === true ? html`readonly` : html`name="${name}" required`}
      ${value === undefined ? null : html`value="${value}"`}
      ${described.length === 0 ? null : html`aria-describedby="${described.join(" ")}"`}
      ${invalid ? html`aria-invalid="true"` : null}
      ${of.autofocus === true ? html`autofocus` : null}
    />
    ${hint === undefined ? null : html`<p class="hint" id="${name}-hint">${hint}</p>`}
    ${problem === null ? null : html`<p class="error" role="alert" id="${name}-problem">${problem}</p>`}`;
}

/** A value that a form carries unseen; nothing where there is none. */
export function hidden(name: string, value: string | null | undefined): Html | null {
  return value === null || value === undefined ? null : html`<input type="hidden" name="${name}" value="${value}" />`;
}
