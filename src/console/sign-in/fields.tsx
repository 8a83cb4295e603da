import type { Form } from "../../http/request/form.js";

interface FieldProps {
  /** Also the id of the element. */
  name: string;
  label: string;
  type: "email" | "password";
  /** What a browser or password manager may fill in. */
  autocomplete: "username" | "current-password" | "new-password";
  value?: string | undefined;
  hint?: string;
  /** What is wrong with the value. */
  problem?: string | undefined;
  /** The id of a message above the form that concerns the field. */
  describedBy?: string | undefined;
  autofocus?: boolean;
  /** Shown but not sent: for the user to see, and for password managers. */
  shown?: boolean;
}

/** The field of the address for which a password manager stores the password. */
export const EMAIL = { name: "email", label: "E-mail address", type: "email", autocomplete: "username" } as const;

/** A labelled field, associated with its hint and its problem. */
export function FormField(props: FieldProps) {
  const { name, label, type, autocomplete, value, hint, problem, describedBy, autofocus, shown = false } = props;
  const described = [describedBy, hint && `${name}-hint`, problem && `${name}-problem`].filter(Boolean);
  const isInvalid = problem !== undefined || describedBy !== undefined;
  return (
    <>
      <label for={name}>{label}</label>
      <input
        id={name}
        // oxlint-disable-next-line typescript/no-unnecessary-type-assertion -- TypeScript 7 wants one type where 6 takes either
        type={type as "email"}
        autocomplete={autocomplete}
        autocapitalize="none"
        spellcheck={false}
        readonly={shown}
        name={shown ? undefined : name}
        required={!shown}
        value={value}
        aria-describedby={described.length === 0 ? undefined : described.join(" ")}
        aria-invalid={isInvalid ? "true" : undefined}
        autofocus={autofocus}
      />
      {hint === undefined ? null : (
        <p class="hint" id={`${name}-hint`}>
          {hint}
        </p>
      )}
      {problem === undefined ? null : (
        <p class="error" role="alert" id={`${name}-problem`}>
          {problem}
        </p>
      )}
    </>
  );
}

const LENGTH_MIN = 12;
const LENGTH_MAX = 256;

/** The fields of a form that sets a password. */
export const NEW_PASSWORD_FIELDS = ["password", "repeated"] as const;
type NewPassword = Form<(typeof NEW_PASSWORD_FIELDS)[number]>;

/** Problems of a new password by field, each as a sentence that says what to do. */
export type PasswordProblem = Partial<Record<keyof NewPassword, string>>;

/** What is wrong with a new password; null for nothing. Lengths are in code points. */
export function passwordProblem({ password = "", repeated }: NewPassword, email: string): PasswordProblem | null {
  const { length } = [...password];
  const choose = (what: string) => ({ password: `Choose a password ${what}` });
  if (length < LENGTH_MIN) return choose(`of at least ${LENGTH_MIN} characters; this one has ${length}.`);
  if (length > LENGTH_MAX) return choose(`of at most ${LENGTH_MAX} characters; this one has ${length}.`);
  if (password.trim().toLowerCase() === email) return choose("that is not your e-mail address.");
  return password === repeated ? null : { repeated: "Enter the same password twice; the two were different." };
}

/** The fields for a new password, after the address for which a password manager stores it. */
export function NewPasswordFields({ email, problem }: { email: string; problem: PasswordProblem | null }) {
  const newPassword = { type: "password", autocomplete: "new-password" } as const;
  const hint = `At least ${LENGTH_MIN} characters. A few words that mean something only to you work well.`;
  const [chosen, repeated] = [problem?.password, problem?.repeated];
  return (
    <>
      <FormField {...EMAIL} value={email} shown />
      <FormField {...newPassword} name="password" label="New password" hint={hint} problem={chosen} autofocus />
      <FormField {...newPassword} name="repeated" label="Repeat the new password" problem={repeated} />
    </>
  );
}
