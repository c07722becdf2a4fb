/** The part of a UUIDv7 that differs between neighbours: its last eight digits. */
export function shortId(id: string): string {
  return id.length > 12 ? id.slice(-8) : id;
}
