/** The type of an optional argument or input field: absent or null. */
export type Maybe<T> = T | null | undefined;
