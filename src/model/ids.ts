/**
 * Identifiers of records: TypeIDs, a kind's prefix and a UUIDv7, `asset_01h455vb4pex5vsknk084sn02q`.
 * They sort by time of creation and say what they identify.
 */
import { typeidUnboxed } from 'typeid-js';

/** A new identifier. Within a process each is greater than the one before, also within one millisecond. */
export const newId = (prefix: string): string => typeidUnboxed(prefix);

/** A UUID of 128 bits in Crockford's base 32: 26 characters, of which the first holds only three bits. */
const typeId = /^([a-z]+(?:_[a-z]+)*)_[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/** A prefix has at most 63 characters. */
const maxLength = 63 + 1 + 26;

/** The prefix of an identifier that has the form of a TypeID, otherwise undefined. */
export const idPrefixOf = (id: string): string | undefined =>
  id.length > maxLength ? undefined : typeId.exec(id)?.[1];
