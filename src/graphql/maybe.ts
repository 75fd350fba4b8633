/** A value that an argument or an input's field may leave out, or give as null. */
export type Maybe<T> = T | null | undefined;
