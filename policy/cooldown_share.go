package policy

import (
	"errors"

	"shadow/limit"
)

// Sharing implements limit.Sharer: what the limit says, and the cooldown, which all scripts know of.
func (c *coolingDown) Sharing() (limit.Sharing, error) {
	sharer, ok := c.limit.(limit.Sharer)
	if !ok {
		return limit.Sharing{}, errors.New("it has no script")
	}
	s, err := sharer.Sharing()
	s.Cooldown, s.Extend = c.length, c.extend
	return s, err
}
