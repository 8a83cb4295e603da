import { createContext, type ComponentChildren } from "preact";
import { useContext } from "preact/hooks";
import { printable } from "../words/text.js";

interface FormProps {
  path: string;
  /** Values of hidden fields, by name. */
  hidden?: Readonly<Record<string, string | undefined>> | undefined;
  children: ComponentChildren;
}

/** A form that filters a list. @param all the link to the whole list, if it is filtered */
export function FilterForm({ path, hidden, all, children }: FormProps & { all?: ComponentChildren }) {
  return (
    <search>
      <form class="filters" action={path} method="get">
        <HiddenFields of={hidden} />
        {children}
        <button>Show</button>
        {all}
      </form>
    </search>
  );
}

/** A form that changes the view of a page, for example its time span. */
export function ViewForm({ path, hidden, button = "Show", children }: FormProps & { button?: string }) {
  return (
    <form class="filters" action={path} method="get">
      <HiddenFields of={hidden} />
      {children}
      <button class="second">{button}</button>
    </form>
  );
}

/** A hidden field for each value that is not undefined. */
export function HiddenFields({ of: fields = {} }: { of: FormProps["hidden"] }) {
  return (
    <>
      {Object.entries(fields).map(([name, value]) =>
        value === undefined ? null : <input type="hidden" name={name} value={value} key={name} />,
      )}
    </>
  );
}

const Sent = createContext<Readonly<Record<string, string | undefined>>>({});

/** Sets the values that the fields of a form show again, by name. */
export const WithSent = Sent.Provider;

/** The value of a field of a form that was refused, as it was sent; undefined in every other form. */
export const useSent = (name: string): string | undefined => useContext(Sent)[name];

interface FieldProps {
  label: string;
  name: string;
  /** The page's query, which has the field's value. */
  query: URLSearchParams;
}

/** A field for text or a day. */
export function InputField(
  props: FieldProps & { type?: "search" | "date"; list?: string; placeholder?: string; maxLength?: number },
) {
  const { label, name, query, type, list, placeholder, maxLength = type === "date" ? undefined : 256 } = props;
  const value = query.get(name) ?? "";
  return (
    <label>
      {label}
      <input
        // Preact's types require one literal.
        type={type as "search"}
        name={name}
        list={list}
        value={value}
        placeholder={placeholder}
        maxLength={maxLength}
      />
    </label>
  );
}

interface Named {
  value: string;
  text: string;
}

type Choices = readonly (string | Named)[];

const named = (choices: Choices): Named[] =>
  choices.map((choice) => (typeof choice === "string" ? { value: choice, text: choice } : choice));

/** A field that filters by one of several choices, or by none. */
export function Choose({ label, name, query, choices }: FieldProps & { choices: Choices }) {
  const value = query.get(name) ?? "";
  const all = named(choices);
  // A value that the model no longer has stays selected.
  const known = value === "" || all.some((choice) => choice.value === value);
  return (
    <label>
      {label}
      <select name={name}>
        <option value="">any</option>
        <Options choices={known ? all : [...all, { value, text: value }]} value={value} />
      </select>
    </label>
  );
}

/** A field with one of several choices. @param value the selected one */
export function OneOf(props: { label: string; name: string; value?: string; choices: Choices }) {
  const { label, name, value, choices } = props;
  return (
    <label>
      {label}
      <select name={name}>
        <Options choices={named(choices)} value={useSent(name) ?? value} />
      </select>
    </label>
  );
}

function Options({ choices, value }: { choices: readonly Named[]; value: string | undefined }) {
  return (
    <>
      {choices.map((choice) => (
        <option value={choice.value} selected={choice.value === value} key={choice.value}>
          {printable(choice.text)}
        </option>
      ))}
    </>
  );
}
