import { expect, test } from "vitest";

import { localTime, percent, printable, secondsInWords } from "../../src/words/text.js";

test.each([
  ["0001-01-01T00:00:00.000Z", "0001-01-01 00:00:00 +00:00"],
  ["0987-06-05T04:03:02.000Z", "0987-06-05 04:03:02 +00:00"],
  ["2026-03-14T10:00:00.000Z", "2026-03-14 10:00:00 +00:00"],
])("the year of a local time has four digits: %s", (iso, shown) => {
  expect(localTime(iso, "UTC")).toBe(shown);
});

const invisible = [
  0x00ad, 0x034f, 0x115f, 0x180e, 0x2062, 0x206a, 0x2800, 0x3164, 0xfe00, 0xfe0f, 0xffa0, 0xfffa, 0xe0041, 0xe0100,
  0xe0fff,
];

test.each(invisible)("an invisible character is shown as an escape: %i", (code) => {
  const hex = code.toString(16);
  const escape = code > 0xffff ? `\\u{${hex}}` : `\\u${hex.padStart(4, "0")}`;
  expect(printable(`ac${String.fromCodePoint(code)}me`)).toBe(`ac${escape}me`);
});

test("after an emoji, only characters that change its look stay unescaped", () => {
  expect(printable("❤\ufe0f\ufe0f")).toBe("❤\ufe0f\\ufe0f");
  expect(printable("1\ufe0f 1\ufe0f\u20e3")).toBe("1\\ufe0f 1\ufe0f\u20e3");
  expect(printable("葛\u{e0100} a\u{e0100}")).toBe("葛\u{e0100} a\\u{e0100}");
  expect(printable("🏴\u{e0001} 🏳\u{e0067}")).toBe("🏴\\u{e0001} 🏳\\u{e0067}");
});

test.each([..."❤️ ☎︎ 👁️‍🗨️ 🕵🏽‍♂️ 🏳️‍🌈 ©️ 🅰️ 〰️ #️⃣ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🏴󠁧󠁢󠁳󠁣󠁴󠁿 🇩🇪 👩🏽‍💻".split(" "), "Müller & Söhne 株式会社 שלום می‌خواهم"])(
  "emoji and words stay unchanged: %s",
  (text) => {
    expect(printable(text)).toBe(text);
  },
);

test.each([
  [null, ""],
  [0.4, "under a second"],
  [1, "1 second"],
  [90, "90 seconds"],
  [24 * 3_600, "1 day"],
  [36 * 3_600, "36 hours"],
  [47 * 3_600, "2 days"],
  [2.6 * 86_400, "3 days"],
])(
  "a length of %s seconds is %j: rounded, to the largest unit of which it has one or at least two",
  (seconds, words) => {
    expect(secondsInWords(seconds)).toBe(words);
  },
);

test.each([
  [0, "0 %"],
  [0.0004, "under 0.1 %"],
  [0.004, "0.4 %"],
  [1 / 3, "33.3 %"],
  [0.9996, "over 99.9 %"],
  [1, "100 %"],
])("a share of %d is %s: nothing and everything only if it is exact", (share, text) => {
  expect(percent(share)).toBe(text);
});
