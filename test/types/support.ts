/** True only where the two types are the same, not merely assignable to each other. */
export type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Compiles only where its type argument is `true`. */
export declare function holds<Truth extends true>(): Truth;
