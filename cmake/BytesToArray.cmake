# cmake -DINPUT=FILE -DOUTPUT=FILE -P BytesToArray.cmake: the bytes of a file as the elements of a C array.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${OUTPUT} "${bytes}\n")
