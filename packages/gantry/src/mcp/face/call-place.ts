/**
 * The place of a call among those of its client that may run at a time. The request that brought the call has it until it is disposed, and
 * whatever goes on with the call after that request; it is free when all have let go of it.
 */
export interface CallPlace extends Disposable {
  keep(): Disposable;
}

/** Makes one of what let the call in. */
export const createCallPlace = (admitted: Disposable): CallPlace => {
  let holders = 0;
  const keep = (): Disposable => {
    holders += 1;
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        holders -= 1;
        if (holders === 0) admitted[Symbol.dispose]();
      },
    };
  };
  return { ...keep(), keep };
};
