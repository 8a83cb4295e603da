const KIB = 1024;
const MIB = KIB * KIB;

/** `512 bytes`, `18 KiB`, `3.9 MiB`: rounded up, so that a bound stays one. */
export function bytesInWords(bytes: number): string {
  if (bytes < KIB) return `${bytes} bytes`;
  if (bytes < MIB) return `${Math.ceil(bytes / KIB)} KiB`;
  return `${Math.ceil((bytes / MIB) * 10) / 10} MiB`;
}
