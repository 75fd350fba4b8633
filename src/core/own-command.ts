/**
 * How messages name a command of this project: as it is typed in its folder. (In a container, what
 * stands after the two hyphens is the container's command: docker/README.md.)
 */
export const ownCommand = (args: string): string => `npm run -s annals -- ${args}`;
