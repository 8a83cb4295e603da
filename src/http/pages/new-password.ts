import { field } from "./fields.js";
import { html, type Html } from "./page.js";

const LENGTH_MIN = 12;
const LENGTH_MAX = 256;

/** The fields of a form that sets a password. */
export const NEW_PASSWORD_FIELDS = ["password", "repeated"] as const;

export interface NewPassword {
  password: string | undefined;
  repeated: string | undefined;
}

/** What is wrong with a password that somebody chose. */
export interface PasswordProblem {
  field: keyof NewPassword;
  /** A sentence that says what to do. */
  text: string;
}

/** What is wrong with a password that somebody chose; null for nothing. Lengths are of code points. */
export function passwordProblem({ password = "", repeated = "" }: NewPassword, email: string): PasswordProblem | null {
  const text = weakness(password, email);
  if (text !== null) return { field: "password", text };
  if (password !== repeated)
    return { field: "repeated", text: "Enter the same password twice; the two were different." };
  return null;
}

function weakness(password: string, email: string): string | null {
  const { length } = [...password];
  if (length < LENGTH_MIN) return `Choose a password of at least ${LENGTH_MIN} characters; this one has ${length}.`;
  if (length > LENGTH_MAX) return `Choose a password of at most ${LENGTH_MAX} characters; this one has ${length}.`;
  if (password.trim().toLowerCase() === email) return "Choose a password that is not your e-mail address.";
  return null;
}

/** The fields themselves, under the address that a password manager keeps the password for. */
export function newPasswordFields(email: string, problem: PasswordProblem | null): Html {
  const problemOf = (field: keyof NewPassword) => (problem?.field === field ? problem.text : null);
  return html`${field({
    name: "email",
    label: "E-mail address",
    type: "email",
    autocomplete: "username",
    value: email,
    shown: true,
  })}
  ${field({
    name: "password",
    label: "New password",
    type: "password",
    autocomplete: "new-password",
    hint: `At least ${LENGTH_MIN} characters. A few words that mean something only to you are good.`,
    problem: problemOf("password"),
    autofocus: true,
  })}
  ${field({
    name: "repeated",
    label: "The same password again",
    type: "password",
    autocomplete: "new-password",
    problem: problemOf("repeated"),
  })}`;
}
