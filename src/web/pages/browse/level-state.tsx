/** A row of a tree in place of children that are loading or failed to load. */
import { Failure, Loading } from "../../components/states.tsx";

/** `error`: null while the children are loading. */
export const LevelState = ({ error }: { readonly error: Error | null }) => (
  <li>{error === null ? <Loading lines={2} /> : <Failure error={error} />}</li>
);
