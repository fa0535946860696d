/** More characters of a reason would hide the rest of its record. */
const LONGEST = 500

/** Why a document cannot be given to the function, or its result cannot be sent. The message completes "not transformed:". */
export class Untransformable extends Error {
  constructor(message: string) {
    // The reason stands on one line, before the document. Part of it may come from the function: the name of a class.
    // oxlint-disable-next-line no-control-regex -- control characters are what is removed
    const line = message.replaceAll(/[\u0000-\u001f\u007f-\u009f]+/g, ' ')
    super(line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line)
  }
}
