/** Why a document cannot be given to the function, or its result cannot be sent. The message completes "not transformed:". */
export class Untransformable extends Error {}
