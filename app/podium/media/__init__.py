"""Video, sound and picture files to numpy arrays and back; nothing about models, no torch.

A picture is uint8 [height, width, 3], RGB in sRGB, rows from the top; sound is float32 [channels, samples], -1 to 1.
"""
