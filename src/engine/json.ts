import type { Json } from "./state/types.js";

/** Whether two JSON values are equal: objects regardless of the order of their keys, arrays in order. */
export function jsonEquals(a: Json, b: Json): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, i) => jsonEquals(item, b[i]!))
    );
  }
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && jsonEquals(a[key]!, b[key]!))
  );
}

/** A reader of one member that ignores inherited members such as `constructor`. */
export function memberReader(name: string): (object: Record<string, Json>) => Json | undefined {
  // Only the few inherited names need the check, so other readers do not pay for it.
  if (name in Object.prototype) return (object) => (Object.hasOwn(object, name) ? object[name] : undefined);
  return (object) => object[name];
}

/** Sets a member as data, even if its name is `__proto__`. */
export function setMember(object: Record<string, Json>, name: string, value: Json): void {
  if (name === "__proto__") {
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
  } else {
    object[name] = value;
  }
}
