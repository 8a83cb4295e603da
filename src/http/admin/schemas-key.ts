import Type from "typebox";
import { exact, instant, listOf, orNull } from "./schemas-common.js";

const id = Type.String({ description: "Of the key.", examples: ["key_5d0c2b6e4f1a4c7f9b3e"] });

const key = exact(
  {
    id,
    name: Type.String(),
    hint: Type.String({ description: "The first characters of the key, enough to recognize it." }),
    status: Type.Enum(["active", "expiring", "revoked"], {
      description: "A key that was rotated is expiring until its grace period is over.",
    }),
    createdAt: instant,
    createdBy: Type.String({ description: "E-mail address of who made it." }),
    lastUsedAt: orNull(instant, "Null before its first use."),
    revokedAt: orNull(instant, "From when it is refused; may lie ahead."),
  },
  { title: "ApiKey" },
);

const secret = Type.String({
  description: "The key itself. It is shown here and nowhere else, ever.",
  examples: ["svc_test_…"],
});

export const changedKey = exact({ key }, { title: "ChangedApiKey" });

export const createdKey = exact({ key, secret }, { title: "CreatedApiKey" });

export const rotatedKey = exact(
  { key, secret, replaced: exact({ id, revokedAt: instant }, { description: "The key that it takes the place of." }) },
  { title: "RotatedApiKey" },
);

export const keyList = listOf(key);
