/** Characters that show nothing or change the direction of what follows, but for line breaks and tabs. */
export const UNPRINTABLE_IN_SOURCE =
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]|\r(?!\n)/g;
