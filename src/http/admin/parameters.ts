import Type from "typebox";

/** The longest hold an event name and a path of 256 characters each, which were escaped as JSON. */
const CURSOR_LENGTH_MAX = 8192;

const environment = Type.Enum(["test", "live"], { default: "test" });
const cursor = Type.Optional(Type.String({ minLength: 1, maxLength: CURSOR_LENGTH_MAX }));
const limit = Type.Integer({ minimum: 1, maximum: 200, default: 50 });

/** `?env=`, test unless given. */
export const environmentQuery = Type.Object({ env: environment }, { additionalProperties: false });

/** `?env=&limit=&cursor=`, for lists. */
export const listQuery = Type.Object({ env: environment, limit, cursor }, { additionalProperties: false });

export const KIB = 1024;
export const MIB = 1024 * KIB;
