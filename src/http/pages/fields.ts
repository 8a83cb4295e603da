import type { Form } from "../request/form.js";
import { html, type Html } from "./page.js";

interface FormField {
  /** Also the element's id. */
  name: string;
  label: string;
  type: "email" | "password";
  /** What a browser or password manager may fill in. */
  autocomplete: "username" | "current-password" | "new-password";
  value?: string | undefined;
  hint?: string;
  /** What is wrong with what was entered. */
  problem?: string | undefined;
  /** The id of a message above the form that concerns the field. */
  describedBy?: string | undefined;
  autofocus?: boolean;
  /** Shown, and not sent: there for whoever reads, and for password managers. */
  shown?: boolean;
}

/** The field of the address that a password manager keeps a password for. */
export const EMAIL = { name: "email", label: "E-mail address", type: "email", autocomplete: "username" } as const;

/** A labelled field of a form, with its hint and what is wrong with it tied to it. */
export function field(of: FormField): Html {
  const { name, label, type, autocomplete, value, hint, problem, describedBy } = of;
  const described = [describedBy, hint && `${name}-hint`, problem && `${name}-problem`].filter(Boolean);
  const invalid = problem !== undefined || describedBy !== undefined;
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
    ${problem === undefined ? null : html`<p class="error" role="alert" id="${name}-problem">${problem}</p>`}`;
}

/** A value that a form carries unseen; nothing where there is none. */
export function hidden(name: string, value: string | null | undefined): Html | null {
  return value === null || value === undefined ? null : html`<input type="hidden" name="${name}" value="${value}" />`;
}

const LENGTH_MIN = 12;
const LENGTH_MAX = 256;

/** The fields of a form that sets a password. */
export const NEW_PASSWORD_FIELDS = ["password", "repeated"] as const;
type NewPassword = Form<(typeof NEW_PASSWORD_FIELDS)[number]>;

/** What is wrong with a password that somebody chose, as a sentence that says what to do, by field. */
export type PasswordProblem = Partial<Record<keyof NewPassword, string>>;

/** What is wrong with a password that somebody chose; null for nothing. Lengths are of code points. */
export function passwordProblem({ password = "", repeated }: NewPassword, email: string): PasswordProblem | null {
  const { length } = [...password];
  const choose = (what: string) => ({ password: `Choose a password ${what}` });
  if (length < LENGTH_MIN) return choose(`of at least ${LENGTH_MIN} characters; this one has ${length}.`);
  if (length > LENGTH_MAX) return choose(`of at most ${LENGTH_MAX} characters; this one has ${length}.`);
  if (password.trim().toLowerCase() === email) return choose("that is not your e-mail address.");
  return password === repeated ? null : { repeated: "Enter the same password twice; the two were different." };
}

/** The fields themselves, under the address that a password manager keeps the password for. */
export function newPasswordFields(email: string, problem: PasswordProblem | null): Html {
  const newPassword = { type: "password", autocomplete: "new-password" } as const;
  const hint = `At least ${LENGTH_MIN} characters. A few words that mean something only to you are good.`;
  const [chosen, repeated] = [problem?.password, problem?.repeated];
  return html`${field({ ...EMAIL, value: email, shown: true })}
  ${field({ ...newPassword, name: "password", label: "New password", hint, problem: chosen, autofocus: true })}
  ${field({ ...newPassword, name: "repeated", label: "The same password again", problem: repeated })}`;
}
