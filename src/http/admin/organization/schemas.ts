import Type from "typebox";

/** Neither what separates, quotes or comments addresses in a mail's header, nor what cannot be seen. */
const ADDRESS_PART =
  '[^\\s@"(),:;<>\\[\\]\\\\\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufeff]+';

/** Where mail goes: one address and nothing else. */
export const emailAddress = Type.String({
  minLength: 3,
  maxLength: 254,
  pattern: `^${ADDRESS_PART}@${ADDRESS_PART}$`,
  description: "must be one e-mail address, for example ada@example.com",
});

/** Whether the mail server took the link; false also where no mail is set up. */
export const mailed = Type.Boolean();
